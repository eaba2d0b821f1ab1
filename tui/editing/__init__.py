"""What the manifest screen edits with: its document, the parts that its form shows, and its questions."""

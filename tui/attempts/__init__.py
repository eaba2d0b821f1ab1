"""What the attempts screen is made of: what it reads, what it says, what it can do."""

"""Who answers: one file a retrieval system, all behind one protocol."""

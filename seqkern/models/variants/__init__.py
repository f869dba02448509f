"""What variants do to a model's decisions."""

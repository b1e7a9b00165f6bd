"""What a model is trained for: examples -> batch -> loss, one file per task. The loop knows none of them."""

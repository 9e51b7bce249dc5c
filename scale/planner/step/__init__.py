"""What one layout takes: seconds by cause, bytes by part, and the search over all layouts."""

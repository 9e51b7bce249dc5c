"""What stands in a text of people: e-mail addresses, IP addresses, telephone, account and card numbers."""

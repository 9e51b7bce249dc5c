"""Commands that tell what is there: stages, schema, bands, the installation."""

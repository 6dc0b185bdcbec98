"""Pages: shells over the modules beside this package."""

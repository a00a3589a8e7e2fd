"""Pictures and files of saved programs, made by the page's own code in a separate process."""

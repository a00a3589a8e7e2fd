"""Pictures and files made from a trace that is kept, by the page's own code in a process of its own."""

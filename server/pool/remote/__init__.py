"""The pool whose programs run on other machines: Celery brings them there, Redis keeps the queue and brings the lines
back."""

"""The routes. They are thin: the decisions are made in other packages."""

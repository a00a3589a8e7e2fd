"""What stands between a request and its route: private mode, limits of requests, their metrics."""

"""What the tests of several rooms use: traces, servers, pools, databases, brokers, a browser."""

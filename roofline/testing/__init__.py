"""HOW A TEST ASKS FOR IT  the pytest plugin: a fixture that holds any callable against this machine's roof."""

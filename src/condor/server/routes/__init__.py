"""What can be asked, one module a subject; each is a router that ``server.app`` mounts."""

"""Ports: what the pump needs from the world, as Protocols. Each states what it promises."""

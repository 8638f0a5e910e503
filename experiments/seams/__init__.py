"""Frames that are cut from the middle: how soon they end where those from the beginning end."""

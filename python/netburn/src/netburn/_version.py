"""The version of this distribution, without reading its metadata, which would take most of the time of the import."""

__version__ = "0.1.0"

"""The native module, after a check of its version. Other modules import it from here."""

from ._version import __version__


def mismatch(found: str) -> str:
    """The message for a runtime of the version `found`, or one that is `not installed`."""
    return (
        f"netburn {__version__} needs netburn-runtime {__version__}, found netburn-runtime {found}\n"
        f"help: pip install netburn=={__version__} netburn-runtime=={__version__}"
    )


try:
    import netburn_runtime as native
except ImportError as error:
    # Also the import of a name that another version lacks.
    try:
        from netburn_runtime._native import __version__ as _found
    except ImportError:
        _found = "not installed" if isinstance(error, ModuleNotFoundError) else "that can't be loaded"
    raise ImportError(mismatch(_found)) from error

if native.__version__ != __version__:
    raise ImportError(mismatch(native.__version__))

__all__ = ["native"]

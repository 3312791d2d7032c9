"""Run folders: a trained model is a folder with a manifest."""

from chainrule.storage.run_folder import RunFolder, open_run, verify_run
from chainrule.storage.writing import check_target, write_run

__all__ = ["RunFolder", "check_target", "open_run", "verify_run", "write_run"]

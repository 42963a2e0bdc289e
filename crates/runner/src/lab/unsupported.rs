//! The environment lab on systems other than Linux: no lab can be opened.

use crate::control::RunControl;
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::RunError;
use crate::open_lab::{LabError, OpenLab};
use netburn_scenario::{Environment, Plan};
use std::path::Path;

/// The environment lab.
#[derive(Debug)]
pub struct Lab;

impl Lab {
    /// `program` is the executable of netburn.
    #[must_use]
    pub fn new(_program: &Path) -> Self {
        Lab
    }

    /// Is never called.
    #[must_use]
    pub fn with_open_lab(self, lab: OpenLab) -> Self {
        match lab {}
    }
}

impl RunEnvironment for Lab {
    fn kind(&self) -> Environment {
        Environment::Lab
    }

    fn prepare<'a>(&'a self, _: &'a Plan, _: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        Err(LabError.into())
    }
}

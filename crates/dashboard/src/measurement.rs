//! Measurements that the page can start. The owner of the server provides them, so the dashboard has no schedule of its own.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::pin::Pin;

/// Future of a [`Measurements`].
pub type MeasurementFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts and stops measurements of the devices that have joined. At most one is in progress.
pub trait Measurements: Debug + Send + Sync + 'static {
    /// The measurement that could begin now.
    ///
    /// # Errors
    /// The reason for which none can begin, for the user.
    fn offer(&self) -> MeasurementFuture<'_, Result<Offer, String>>;

    /// Starts a measurement of these devices, which an [offer](Self::offer) had.
    ///
    /// # Errors
    /// The reason for which it did not begin, for the user.
    fn start(&self, devices: Vec<String>) -> MeasurementFuture<'_, Result<(), String>>;

    /// Ends the measurement in progress early, if there is one.
    fn stop(&self);

    /// Stops the measurement in progress and waits until its results are saved, because the server ends.
    fn end(&self) -> MeasurementFuture<'_, ()>;

    /// Address at which devices join; `None` while they cannot, because there is no controller.
    fn invitation(&self) -> MeasurementFuture<'_, Option<Invitation>>;

    /// Lets devices join: starts a controller, which other machines can reach, unless there is one.
    ///
    /// # Errors
    /// The reason for which they can't join, for the user.
    fn invite(&self) -> MeasurementFuture<'_, Result<(), String>>;

    /// State of the measurement that began last.
    fn state(&self) -> MeasurementState;
}

/// A measurement that could begin now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Names of the devices.
    pub devices: Vec<String>,
    /// Time and most data, as the predicate of a sentence about the measurement.
    pub extent: String,
    /// Further sentence about a measurement of these devices, if any.
    pub note: Option<String>,
}

/// Address at which devices join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invitation {
    /// Address of the page for devices with a browser.
    pub address: String,
    /// Command for machines with netburn.
    pub command: String,
    /// QR code of the address: a row of modules in each text, `1` for a dark one. Empty if the address is too long for one.
    pub code: Vec<String>,
}

/// State of a measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum MeasurementState {
    /// No measurement began.
    #[default]
    None,
    /// The devices are measured.
    Measuring {
        /// Name of the run, if its folder exists.
        run: Option<String>,
        /// Phase and remaining time.
        text: String,
        /// Part of the time that has passed, from 0 to 1.
        part: f64,
    },
    /// The model is fitted. The devices are not needed any more.
    Modelling {
        /// Name of the run.
        run: String,
        /// Number of models that were simulated.
        models: usize,
    },
    /// It has a result.
    Done {
        /// Name of the run.
        run: String,
        /// Results, as lines.
        findings: String,
        /// Command that recommends a remedy. `None` if no model explains the measurement.
        next: Option<String>,
    },
    /// It has no result.
    Failed {
        /// Name of the run, if its folder exists.
        run: Option<String>,
        /// Reason.
        text: String,
    },
}

/// Body of a request for a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartRequest {
    /// Names of the devices.
    pub(crate) devices: Vec<String>,
}

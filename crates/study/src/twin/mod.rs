//! A measured run and a model of its network.
//!
//! 1. [`on_model()`] gives the stations of the model the workloads of the run.
//! 2. [`agreement()`] simulates that plan and compares each measured value with the simulated ones.
//! 3. [`text()`] and [`json()`] format the comparison.
//!
//! [`models()`] does the first step for several equally likely models. A run that only measured the network has no workloads
//! of its users, so [`household()`] has some. A [`Diagnosis`] has the causes of what such a load misses, and the changes to
//! try on each model.
//!
//! [`fit_models()`] fits models to a measurement. [`fit_json()`] is the document of the result, and [`models_of_fit()`] reads the
//! models from it again.
//!
//! [`verify()`] predicts a second measurement, after a change of the network, and compares it with what was measured.
//!
//! The [remedies](crate::whatif) of such a run are changes of the model. They are worth as much as the model agrees.

mod agreement;
mod diagnosis;
mod document;
mod fitting;
mod household;
mod models;
mod network;
mod text;
mod verify;

pub use agreement::{Agreement, Compared, agreement};
pub use diagnosis::{Attempts, Diagnosis, NoDiagnosis};
pub use document::{NoStoredModels, disciplines_json, fit_json, models_of_fit};
pub use fitting::{MEASURE_HELP, fit_models};
pub use household::{household, household_sentence};
pub use models::{NoModel, lasting, loaded, models};
pub use network::{NotThisNetwork, on_model};
pub use text::{json, text};
pub use verify::{CannotVerify, PREDICTING_MODELS, Predicted, Verification, verifiable, verify};

#[cfg(test)]
mod document_tests;
#[cfg(test)]
mod tests;

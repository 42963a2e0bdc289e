//! Speed ratings.

use netburn_medium::config::Rating;
use netburn_medium::rating::{Antennas, decode as read};
use netburn_report::decode::json;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode, module)?)
}

/// Decodes a speed rating. Returns the JSON document of `netburn decode --format json`.
#[pyfunction]
fn decode(rating: &str, client: &str, stations: u32, nodes: u32) -> PyResult<String> {
    for (name, found, most) in [("stations", stations, 1000), ("nodes", nodes, 32)] {
        if !(1..=most).contains(&found) {
            return Err(PyValueError::new_err(format!(
                "{name}: found {found}, expected 1 to {most}"
            )));
        }
    }
    let invalid = |text: &str, why: &dyn std::fmt::Display| PyValueError::new_err(format!("`{text}`: {why}"));
    let parsed: Rating = rating.trim().parse().map_err(|why| invalid(rating, &why))?;
    let client: Antennas = client.parse().map_err(|why| invalid(client, &why))?;
    let decoded = read(parsed, nodes).map_err(|why| PyValueError::new_err(why.to_string()))?;
    Ok(json(&decoded, &client, stations).to_string())
}

//! The result files of a sweep.

use super::cells::Cells;
use super::chart::{Chart, Surface, svg};
use super::csv::csv;
use super::effects::Effects;
use super::folder::{Folder, FolderError};
use super::grid::Grid;
use super::parquet::parquet;
use super::rows::Rows;

/// Writes the result files of the rows to the folder.
///
/// These are `rows.csv`, `rows.parquet`, `chart.svg` and `effects.txt`. With several runs of a cell, also `cells.csv`; if the
/// values of two keys are numbers, also `surface.svg`. The default metric of the charts is that of
/// [`Rows::metric_or_default`].
///
/// # Errors
/// A file cannot be written.
pub fn write_results(folder: &Folder, grid: &Grid, rows: &Rows, metric: Option<&str>) -> Result<(), FolderError> {
    let encoded = parquet(rows).map_err(|error| FolderError::Encode(error.to_string()))?;
    let cells = Cells::new(rows);
    let column = rows.metric_or_default(metric);
    folder.write("rows.csv", csv(rows).as_bytes())?;
    folder.write("rows.parquet", &encoded)?;
    folder.write("chart.svg", svg(&Chart::new(rows, column)).as_bytes())?;
    folder.write("effects.txt", Effects::new(grid, rows, column).text().as_bytes())?;
    if rows.repeat > 1 {
        folder.write("cells.csv", cells.csv().as_bytes())?;
    }
    match Surface::new(grid, &cells, rows, column) {
        Some(surface) => folder.write("surface.svg", surface.svg().as_bytes()),
        // Perhaps the metric of an earlier execution had one.
        None => {
            folder.remove("surface.svg");
            Ok(())
        }
    }
}

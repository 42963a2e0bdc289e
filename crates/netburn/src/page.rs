//! The page of a run, and its charts as files.

use crate::exit::CliError;
use crate::terminal::eprint_message;
use netburn_analysis::View;
use netburn_report::html::MAX_PAGES;
use netburn_report::sanitise::sanitise;
use netburn_report::{chart, html, run_charts};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the page in the folder of a run.
pub(crate) const FILE: &str = "report.html";

/// Writes the page of a run and the pages of the runs of a set. Returns the path of the page. An error is printed, and the
/// run remains valid.
pub(crate) fn keep(folder: &Path, view: &View) -> Option<PathBuf> {
    kept(folder, view)
        .map_err(|why| eprint_message(&format!("there is no page: {}", sanitise(&why))))
        .ok()
}

fn kept(folder: &Path, view: &View) -> Result<PathBuf, String> {
    if view.run_dirs.len() <= MAX_PAGES {
        for round in view.run_dirs.iter().map(|round| folder.join(round)) {
            // The page of the set reports a run that can't be read.
            if let Ok(view) = View::open(&round) {
                put(&view, &round.join(FILE))?;
            }
        }
    }
    let path = folder.join(FILE);
    put(view, &path)?;
    Ok(path)
}

fn put(view: &View, path: &Path) -> Result<(), String> {
    write(view, path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes the page of a view to a file atomically.
pub(crate) fn write(view: &View, path: &Path) -> io::Result<()> {
    whole(path, html::report(view).as_bytes())
}

/// Writes a view's charts into a folder, as SVG and PNG.
pub(crate) fn draw(view: &View, folder: &Path) -> Result<(), CliError> {
    let unwritten =
        |path: &Path, error: &dyn std::fmt::Display| CliError::Failed(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    for chart in run_charts::charts(view) {
        let picture = chart::png(&chart).map_err(|why| CliError::Failed(format!("{}: {why}", chart.id)))?;
        let drawing = chart::svg(&chart, chart::Theme::File);
        for (kind, bytes) in [("svg", drawing.as_bytes()), ("png", &picture)] {
            let path = folder.join(format!("{}.{kind}", chart.id));
            whole(&path, bytes).map_err(|error| unwritten(&path, &error))?;
        }
    }
    Ok(())
}

/// Replaces a file with one rename. A device or a pipe is written to.
pub(crate) fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |path| std::fs::write(path, bytes))
}

/// Lets `write` write a file next to `path`, and replaces `path` by it. A device or a pipe is written to. After an error,
/// the previous file remains.
pub(crate) fn replace<E: From<io::Error>>(path: &Path, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return write(path);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let written = write(&temporary).and_then(|()| Ok(std::fs::rename(&temporary, path)?));
    written.inspect_err(|_| {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&temporary);
    })
}

//! `netburn import`: import of files of other programs as runs.

use crate::args::ImportArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{eprint_message, print_stdout};
use netburn_access_point::dumps;
use netburn_interop::import::{self, ImportError, Imported, record};
use netburn_record::{Source, UnixTime};
use netburn_report::sanitise::sanitise;
use std::path::{Path, PathBuf};

/// `netburn import FILE…`. Prints the folders, one per line. A file that can't be read does not affect the others.
pub(crate) fn import(args: &ImportArgs) -> Result<ExitStatus, CliError> {
    if args.out.is_some() && args.files.len() > 1 {
        return Err(CliError::Usage(
            "--out is for one file: several have a folder each".to_owned(),
        ));
    }
    let mut wrong = Vec::new();
    for file in &args.files {
        match read(file) {
            Ok(imported) => {
                let folder = args.out.clone().unwrap_or_else(|| default_folder(&imported));
                let run = record(&folder, &imported).map_err(|error| CliError::Failed(error.to_string()))?;
                for line in said(imported.header.source.as_ref()) {
                    eprint_message(&sanitise(&format!("{}: {line}", file.display())));
                }
                print_stdout(&format!("{}\n", run.path().display()))?;
            }
            Err(why) => wrong.push(sanitise(&format!("{}: {why}", file.display()))),
        }
    }
    if wrong.is_empty() {
        Ok(ExitStatus::Success)
    } else {
        Err(CliError::Usage(wrong.join("\n")))
    }
}

fn read(file: &Path) -> Result<Imported, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    match import::read(&bytes, &name) {
        Ok(imported) => Ok(imported),
        // The layer of interop is below that of access points.
        Err(ImportError::Unsupported(program)) => {
            let content = import::unpacked(&bytes).map_err(|why| why.to_string())?;
            let text = String::from_utf8_lossy(&content);
            if !dumps::recognises(&text) {
                return Err(format!("{}, and {}", ImportError::Unsupported(program), dumps::FILES));
            }
            let (header, rows) = dumps::read(&text, &name).map_err(|why| why.to_string())?;
            Ok(Imported { header, rows })
        }
        Err(why) => Err(why.to_string()),
    }
}

/// Describes imported and ignored data.
fn said(source: Option<&Source>) -> Vec<String> {
    let Some(source) = source else { return Vec::new() };
    let mut said = vec![match source.version.as_str() {
        "" => format!("{}, test {}", source.program, source.test),
        version => format!("{} {version}, test {}", source.program, source.test),
    }];
    said.extend(source.left_out.iter().map(|what| format!("not in the run: {what}")));
    said
}

fn default_folder(imported: &Imported) -> PathBuf {
    let started = imported.header.started.unwrap_or_else(UnixTime::now);
    PathBuf::from("runs").join(format!("{}-{}", started.for_file_name(), imported.header.plan.name))
}

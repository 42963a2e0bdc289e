//! `netburn export`: a run as others' tools read it.

use crate::args::{ExportArgs, ExportFormat};
use crate::exit::{Ended, Stop};
use crate::record::unopened;
use crate::terminal::{say, unwritten};
use netburn_record::Run;
use netburn_record::export::{self, Error};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// `netburn export RUN --to FORMAT`.
pub(crate) fn export(args: &ExportArgs) -> Result<Ended, Stop> {
    let run = Run::open(&args.run).map_err(|error| unopened(&args.run, error))?;
    let out = args.out.as_deref();
    match args.to {
        ExportFormat::Csv => to_file(out, |to| export::csv::write(&run, to)),
        ExportFormat::Json => to_file(out, |to| export::json::write(&run, to)),
        ExportFormat::Junit => to_file(out, |to| export::junit::write(&run, to)),
        ExportFormat::Openmetrics => to_file(out, |to| export::openmetrics::write(&run, to)),
    }?;
    Ok(Ended::Ran)
}

/// Writes one file, or standard output where none or `-` is named.
fn to_file(out: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Stop> {
    let Some(path) = out.filter(|path| *path != Path::new("-")) else {
        let mut to = BufWriter::new(io::stdout().lock());
        return match write(&mut to) {
            Ok(()) => Ok(()),
            Err(Error::Write(error)) => Err(unwritten(error)),
            Err(Error::Run(error)) => Err(Stop::Wrong(error.to_string())),
        };
    };
    let file = File::create(path).map_err(|error| Stop::Wrong(format!("{}: {error}", path.display())))?;
    write(&mut BufWriter::new(file)).map_err(|error| halted(path, &error))?;
    say(&format!("written to {}", path.display()));
    Ok(())
}

/// A disk that can't take it is no fault of the input.
fn halted(path: &Path, error: &Error) -> Stop {
    match error {
        Error::Run(error) => Stop::Wrong(error.to_string()),
        Error::Write(error) => Stop::NotMeasured(format!("{}: {error}", path.display())),
    }
}

//! `netburn export`: conversion of a run for other tools.

mod pcapng;

use crate::args::{ExportArgs, ExportFormat, FlentTest};
use crate::exit::{CliError, ExitStatus};
use crate::record::unopened;
use crate::terminal::{eprint_message, unwritten};
use netburn_interop::export::flent::Test;
use netburn_interop::export::{self, Error};
use netburn_record::Run;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `netburn export RUN --to FORMAT`.
pub(crate) fn export(args: &ExportArgs) -> Result<ExitStatus, CliError> {
    if args.test.is_some() && args.to != ExportFormat::Flent {
        return Err(CliError::Usage("--test goes with --to flent".to_owned()));
    }
    let run = Run::open(&args.run).map_err(|error| unopened(&args.run, error))?;
    let out = args.out.as_deref();
    match args.to {
        ExportFormat::Csv => to_file(out, |to| export::csv::write(&run, to)),
        ExportFormat::Json => to_file(out, |to| export::json::write(&run, to)),
        ExportFormat::Junit => to_file(out, |to| export::junit::write(&run, to)),
        ExportFormat::Openmetrics => to_file(out, |to| export::openmetrics::write(&run, to)),
        ExportFormat::Parquet => tables(&run, &folder(&run, out, "parquet")?),
        ExportFormat::Pcapng => pcapng::export(&run, &folder(&run, out, "pcapng")?),
        ExportFormat::Flent => flent(&run, args.test, out),
    }?;
    Ok(ExitStatus::Success)
}

/// Writes one file, or to standard output without a name or with `-`.
fn to_file(out: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), CliError> {
    let Some(path) = out.filter(|path| *path != Path::new("-")) else {
        let mut to = BufWriter::new(io::stdout().lock());
        return match write(&mut to).and_then(|()| Ok(to.flush()?)) {
            Ok(()) => Ok(()),
            Err(Error::Write(error)) => Err(unwritten(error)),
            Err(Error::Run(error)) => Err(CliError::Usage(error.to_string())),
        };
    };
    let file = File::create(path).map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?;
    let mut to = BufWriter::new(file);
    write(&mut to)
        .and_then(|()| Ok(to.flush()?))
        .map_err(|error| halted(path, &error))?;
    eprint_message(&format!("written to {}", path.display()));
    Ok(())
}

/// A write error is a failure, not a usage error.
fn halted(path: &Path, error: &Error) -> CliError {
    match error {
        Error::Run(error) => CliError::Usage(error.to_string()),
        Error::Write(error) => CliError::Failed(format!("{}: {error}", path.display())),
    }
}

/// A data file for each run. `out` is a directory, or the file itself if it has flent's extension.
fn flent(run: &Run, test: Option<FlentTest>, out: Option<&Path>) -> Result<(), CliError> {
    let test = test.map(|test| match test {
        FlentTest::RttFairVarDown => Test::FairDown,
        FlentTest::RttFairVar => Test::Fair,
        FlentTest::TcpNdown => Test::Downloads,
        FlentTest::TcpNup => Test::Uploads,
        FlentTest::Rrul => Test::Rrul,
        FlentTest::RrulBe => Test::RrulBe,
        FlentTest::Voip => Test::Voip,
    });
    let out = out.unwrap_or(Path::new("."));
    let files = export::flent::files(run, test).map_err(|error| halted(out, &error))?;
    let named = out.to_string_lossy().ends_with(".gz") || out == Path::new("-");
    if named && files.len() > 1 {
        let several = format!("there are {} runs, and so as many files: give a directory", files.len());
        return Err(CliError::Usage(several));
    }
    if !named {
        std::fs::create_dir_all(out).map_err(|error| CliError::Usage(format!("{}: {error}", out.display())))?;
    }
    for file in files {
        let path = if named { out.to_owned() } else { out.join(&file.name) };
        to_file(Some(&path), |to| Ok(to.write_all(&file.bytes)?))?;
    }
    Ok(())
}

/// Destination of an export of several files.
fn folder(run: &Run, out: Option<&Path>, what: &str) -> Result<PathBuf, CliError> {
    match out {
        Some(out) if out == Path::new("-") => Err(CliError::Usage(format!(
            "--to {what} writes several files: give a folder"
        ))),
        Some(out) => Ok(out.to_owned()),
        None => {
            let path = run.path().canonicalize().unwrap_or_else(|_| run.path().to_owned());
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            Ok(PathBuf::from(format!("{name}-{what}")))
        }
    }
}

fn tables(run: &Run, folder: &Path) -> Result<(), CliError> {
    if run.path().canonicalize().ok() == folder.canonicalize().ok() && folder.exists() {
        return Err(CliError::Usage(format!(
            "{} is the record itself: give another folder",
            folder.display()
        )));
    }
    export::parquet::write(run, folder).map_err(|error| match &error {
        Error::Run(netburn_record::Error::Io { path, source }) if path.starts_with(folder) => {
            CliError::Usage(format!("{}: {source}", path.display()))
        }
        _ => halted(folder, &error),
    })?;
    eprint_message(&format!("written to {}", folder.display()));
    Ok(())
}

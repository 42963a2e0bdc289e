//! `netburn-dev validate`: checks the models against published values.

use crate::args::{Format, ValidateArgs};
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_dev::validate::table::{summary_line, table};
use netburn_dev::validate::{CaseFile, CaseResult, built_in, markdown::markdown, run};
use netburn_report::sanitise::sanitise;
use netburn_runner::pool::processors;
use netburn_scenario::{MAX_FILE_SIZE, regular};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// `netburn-dev validate [CASES…]`.
pub(crate) fn validate(args: &ValidateArgs) -> Result<ExitStatus, CliError> {
    let files = if args.cases.is_empty() {
        built_in::files().map_err(|why| CliError::Usage(why.to_string()))?
    } else {
        args.cases.iter().map(|path| read(path)).collect::<Result<_, _>>()?
    };
    let threads = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => processors(),
    };
    let outcomes = run(&files, threads, &progress);
    print_stdout(&match args.format {
        Format::Text => table(&files, &outcomes, args.all),
        Format::Markdown => markdown(&files, &outcomes),
    })?;
    if outcomes.iter().all(|outcome| outcome.result() != CaseResult::Beyond) {
        return Ok(ExitStatus::Success);
    }
    if args.format != Format::Text {
        eprint_message(&summary_line(&outcomes));
    }
    Ok(ExitStatus::OutOfTolerance)
}

/// A file of cases, or a built-in one by its name with or without `.toml`.
fn read(path: &Path) -> Result<CaseFile, CliError> {
    let name = sanitise(&path.display().to_string());
    let built_in = built_in::FILES.iter().find(|(file, _)| {
        let stem = file.strip_suffix(".toml").unwrap_or(file);
        path.as_os_str() == stem || path.as_os_str() == *file
    });
    let text = match regular::read_input(path, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(_) if built_in.is_some() => built_in.map_or_else(String::new, |(_, text)| (*text).to_owned()),
        Err(why) => {
            let names: Vec<&str> = built_in::FILES
                .iter()
                .map(|(file, _)| file.trim_end_matches(".toml"))
                .collect();
            let names = names.join(", ");
            return Err(CliError::Usage(format!(
                "{name}: {why}; built-in files of cases are {names}"
            )));
        }
    };
    CaseFile::parse(&name, &text).map_err(|why| CliError::Usage(why.to_string()))
}

/// Prints the progress to a terminal.
fn progress(done: usize, of: usize) {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        let end = if done == of { "\r\x1b[K" } else { "" };
        let _ = write!(err, "\r{done} of {of} cases{end}");
        let _ = err.flush();
    }
}

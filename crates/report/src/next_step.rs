//! Next step of the user after a measurement for a fit.

use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use netburn_analysis::View;
use netburn_analysis::measurement::NextStep;

/// The next step with its reason, with code in backquotes; `None` if the run is no measurement for a fit. An unreliable one has a
/// cause, whose advice comes first.
pub(crate) fn sentence(view: &View) -> Option<String> {
    let measurement = view.measurement.filter(|_| view.explanation.causes.is_empty())?;
    // Of several runs, each can be explained.
    let run = std::iter::once(&view.summary.run).chain(view.run_dirs.first());
    let run = run.map(String::as_str).collect::<Vec<_>>().join("/");
    let run = sanitise(&run).replace('`', "");
    Some(match measurement.next_step(&view.status, view.fitted.as_ref()) {
        NextStep::Explain { is_fitted, needs_model } => {
            let command = if needs_model {
                format!("`netburn explain {run} --model {run}`")
            } else {
                format!("`netburn explain {run}`")
            };
            let first = if is_fitted {
                ""
            } else {
                "It fits models to this measurement first, which takes up to a minute. "
            };
            format!(
                "Run {command}. {first}It simulates changes of your network under the load of a household, and shows which change \
                 would help each device. This run loaded the network on purpose, so long delays in it are expected."
            )
        }
        NextStep::Differs => "Measure again with `netburn measure`, while no other device uses the network. The model does not \
                              explain this measurement, so no change can be recommended: your network has a property that no \
                              model has, or something disturbed the measurement."
            .to_owned(),
        NextStep::Incomplete => "Measure again with `netburn measure`, and leave all devices connected until the end. This \
                                 measurement is not complete, so no model can be fitted to it."
            .to_owned(),
    })
}

/// The next step as lines of at most `width` columns, after an empty line and a heading. No lines without a next
/// step.
#[must_use]
pub fn lines(view: &View, width: usize, colour: bool) -> Vec<String> {
    let Some(step) = sentence(view) else {
        return Vec::new();
    };
    let mut lines = vec![String::new(), paint("What to do now:", Tone::Heading, colour)];
    lines.extend(wrap(&step, width, ""));
    lines
}

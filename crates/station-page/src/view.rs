//! A station's state as displayed: plain texts, which the page inserts as text.

use crate::event::Card;
use serde::Serialize;

/// Values on display.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct View {
    /// State for programs: the name of [`State`].
    pub state: State,
    /// Name of the station.
    pub name: String,
    /// Title of the run.
    pub title: String,
    /// Heading.
    pub head: String,
    /// Line below the heading.
    pub line: String,
    /// True if the form for the name is visible.
    pub form: bool,
    /// Name for an empty field of the form.
    pub suggestion: String,
    /// Error of the name that was entered.
    pub name_error: &'static str,
    /// Text of the button; empty if there is none.
    pub button: &'static str,
    /// Elapsed part of the run, from 0 to 1; absent without a run.
    pub fraction: Option<f64>,
    /// True if the run is over.
    pub past: bool,
    /// The workloads.
    pub workloads: Vec<Shown>,
    /// Warning about this device.
    pub warning: String,
    /// Advice for this device.
    pub hint: &'static str,
    /// True if the screen should stay on and the page in front.
    pub busy: bool,
    /// Title of the document.
    pub document_title: String,
}

/// Values of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Kind of the workload.
    pub label: &'static str,
    /// Verdict for programs.
    pub verdict: &'static str,
    /// Verdict.
    pub judgement: &'static str,
    /// Main value.
    pub value: String,
    /// Unit of the value.
    pub unit: String,
    /// Further values.
    pub details: String,
}

/// State of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The fleet's key is missing.
    NoKey,
    /// The fleet has another key.
    WrongKey,
    /// The form for the name.
    #[default]
    Join,
    /// Connects to the controller.
    Joining,
    /// The form after a rejection.
    Rejected,
    /// Waits for a run.
    Member,
    /// The connection was lost.
    Reconnecting,
    /// Before the start of a run.
    Preparing,
    /// Measures idle latency.
    Idle,
    /// The load runs.
    Running,
    /// The load is over.
    Collecting,
    /// Results of a run.
    Result,
    /// A run without results.
    Ended,
}

impl State {
    const fn head(self) -> &'static str {
        match self {
            State::NoKey => "No key",
            State::WrongKey => "Wrong key",
            State::Join => "Join the test",
            State::Joining => "Joining",
            State::Rejected => "Rejected",
            State::Member => "Ready",
            State::Reconnecting => "Reconnecting",
            State::Preparing => "Getting ready",
            State::Idle => "Measuring idle latency",
            State::Running | State::Result => "Measured",
            State::Collecting => "Almost done",
            State::Ended => "The run ended early",
        }
    }

    const fn line(self) -> &'static str {
        match self {
            State::NoKey => {
                "The fleet's key is missing from this address. Scan the code on the controller's screen again."
            }
            State::WrongKey => {
                "The key in this address is not valid for this fleet. Scan the code on the controller's screen again."
            }
            State::Join => "This device will help measure the network.",
            State::Joining => "Connecting to the controller.",
            State::Member => "Waiting for a run to start. Keep this page in front.",
            State::Reconnecting => "The controller cannot be reached. Trying again.",
            State::Result => "Measured by this device. The verdict is in the report, on the controller's computer.",
            State::Rejected | State::Preparing | State::Idle | State::Running | State::Collecting | State::Ended => "",
        }
    }

    /// Returns whether a run is measured.
    pub(crate) const fn is_measuring(self) -> bool {
        matches!(self, State::Idle | State::Running | State::Collecting)
    }
}

impl View {
    /// Returns a view without values of a run. An empty line has a default.
    pub(crate) fn new(state: State, line: &str) -> View {
        let line = match (state, line) {
            (_, "") => state.line().to_owned(),
            (State::Member, line) => format!("{line} {}", state.line()),
            (_, line) => line.to_owned(),
        };
        let waits = matches!(state, State::Member | State::Reconnecting | State::Preparing);
        View {
            state,
            head: state.head().to_owned(),
            line,
            form: matches!(state, State::Join | State::Rejected),
            button: match state {
                State::NoKey | State::WrongKey | State::Join | State::Rejected => "",
                State::Result | State::Ended => "Done",
                _ => "Leave",
            },
            past: state == State::Result,
            busy: waits || state.is_measuring(),
            document_title: "netburn station".to_owned(),
            ..View::default()
        }
    }

    /// Returns the view of the load, of which `left` remains.
    pub(crate) fn running(left: String, is_disconnected: bool) -> View {
        let line = if is_disconnected {
            "The controller is disconnected; measuring continues."
        } else {
            "Measuring"
        };
        View {
            document_title: format!("{left} – netburn"),
            head: left,
            ..View::new(State::Running, line)
        }
    }

    /// Adds the values of a run.
    pub(crate) fn with_values(mut self, fraction: f64, cards: &[Card]) -> View {
        self.fraction = Some(fraction);
        if self.state != State::Idle {
            self.workloads = cards.iter().map(shown).collect();
        }
        self
    }
}

/// The result on this device. The report's verdict also considers the self-check of all test machines.
fn shown(card: &Card) -> Shown {
    Shown {
        label: card.label,
        verdict: card.verdict,
        judgement: match card.verdict {
            "pass" => "✓ Met",
            "marginal" => "~ Nearly met",
            "fail" => "✗ Missed",
            "inconclusive" => "? Too few samples",
            "report" => "Judged in the report",
            _ => "",
        },
        value: card.value.clone(),
        unit: card.unit.clone(),
        details: card.line.clone(),
    }
}

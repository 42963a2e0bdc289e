//! The stand-in on systems other than Linux: no lab can be opened, so there is none whose methods could be called.

use crate::calls::{Call, Reply};
use crate::error::LabError;
use crate::hold::Hold;
use crate::observe::StationLook;
use crate::options::{DeviceKind, Options};
use crate::program::{Ended, Program};
use crate::switch::Counted;
use netburn_linux::Monotonic;
use netburn_network::Endpoint;
use netburn_record::{LabHealth, Row};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::Instant;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::Sender;

/// How a lab's network begins.
#[derive(Debug, Default)]
pub struct Begin<'a> {
    /// Where captures go.
    pub captures: Option<&'a Path>,
    /// Where refused connections go.
    pub calls: Option<Sender<Call>>,
}

/// A lab, which this system doesn't have.
#[derive(Debug)]
pub enum Lab {}

/// A program in a lab, which this system doesn't have.
#[derive(Debug)]
pub enum Guest {}

#[expect(missing_docs, reason = "they are the other ones' names, and can't be called")]
impl Lab {
    /// Opens no lab.
    ///
    /// # Errors
    /// [`LabError::Elsewhere`], always.
    pub fn open(_: &Plan, _: Command) -> Result<Lab, LabError> {
        Err(LabError::Elsewhere)
    }

    /// Opens no lab.
    ///
    /// # Errors
    /// [`LabError::Elsewhere`], always.
    pub fn open_with(_: &Plan, _: Command, _: &Options) -> Result<Lab, LabError> {
        Err(LabError::Elsewhere)
    }

    pub const fn device(&self) -> DeviceKind {
        match *self {}
    }

    pub const fn hold(&self) -> Hold {
        match *self {}
    }

    pub const fn segments_udp(&self) -> bool {
        match *self {}
    }

    pub fn notes(&self) -> &[String] {
        match *self {}
    }

    pub fn begin(&self, _: Monotonic) -> Result<(), LabError> {
        match *self {}
    }

    pub fn begin_with(&self, _: Monotonic, _: Begin<'_>) -> Result<(), LabError> {
        match *self {}
    }

    pub fn reply(&self, _: Call, _: Reply) {
        match *self {}
    }

    pub fn listens(&self, _: Endpoint, _: u16) -> Result<bool, LabError> {
        match *self {}
    }

    pub fn caller(&self, _: Call) -> Option<String> {
        match *self {}
    }

    pub fn programs(&self, _: Endpoint) -> Vec<String> {
        match *self {}
    }

    pub fn captures_lost(&self) -> bool {
        match *self {}
    }

    pub fn set(&self, _: Setting) {
        match *self {}
    }

    pub fn names(&self) -> Vec<&str> {
        match *self {}
    }

    pub fn end(&self, _: &str) -> Result<Endpoint, LabError> {
        match *self {}
    }

    pub fn spawn(&self, _: Endpoint, _: Program) -> Result<Guest, LabError> {
        match *self {}
    }

    pub fn entry(&self, _: Endpoint) -> String {
        match *self {}
    }

    pub fn take_rows(&self) -> Vec<Row> {
        match *self {}
    }

    pub fn looks(&self) -> (Option<Instant>, Vec<StationLook>) {
        match *self {}
    }

    pub fn counted(&self) -> Counted {
        match *self {}
    }

    pub fn health(&self) -> LabHealth {
        match *self {}
    }

    pub fn taken_down(&self) -> Vec<&str> {
        match *self {}
    }

    pub fn take_warnings(&self) -> Vec<String> {
        match *self {}
    }

    pub fn stop(&self) {
        match *self {}
    }

    pub fn failed(&self) -> Option<String> {
        match *self {}
    }
}

#[expect(missing_docs, reason = "they are the other one's names, and can't be called")]
impl Guest {
    pub fn ended(&self) -> Option<Ended> {
        match *self {}
    }

    pub fn wait(&self) -> Ended {
        match *self {}
    }

    pub fn when_ended(&self, _: impl FnOnce(Ended) + Send + 'static) {
        match *self {}
    }

    pub fn signal(&self, _: i32) {
        match *self {}
    }
}

/// The helper process, which nobody starts here.
pub mod init {
    /// The status it ends with.
    #[must_use]
    pub fn main() -> i32 {
        2
    }
}

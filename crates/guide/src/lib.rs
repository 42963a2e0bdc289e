//! A guided description of a home: [`ask()`] asks a person about rating, line, rooms, mesh kit and devices, and a [`House`]
//! writes its scenario.
//!
//! The same questions are asked at a terminal (`netburn init`) and by the page of the playground, which sends all answers as
//! one text. Answers are foreign text: their length and number are limited, and messages contain them only escaped.

mod house;
mod questions;

pub use house::{House, USES};
pub use questions::ask;

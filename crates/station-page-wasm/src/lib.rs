//! Functions of the station page's module.
//!
//! The page writes input to the address of [`page_input`], calls [`page_handle`] or [`page_datagram`], and reads the output,
//! whose length is the result, at [`page_output`]. Then it sends the datagrams of [`page_transmit`] until the length is 0. A
//! call can move the memory, so the page asks for addresses again after each call.

use netburn_station_page::Station;
use std::cell::RefCell;

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

#[derive(Default)]
struct Module {
    station: Station,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Module {
    fn reply(&mut self, text: String) -> usize {
        self.output = text.into_bytes();
        self.output.len()
    }
}

fn with<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with_borrow_mut(call)
}

/// Returns the address for `length` bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn page_input(length: usize) -> *mut u8 {
    with(|module| {
        module.input.clear();
        module.input.resize(length, 0);
        module.input.as_mut_ptr()
    })
}

/// Returns the address of the output.
#[unsafe(no_mangle)]
pub extern "C" fn page_output() -> *const u8 {
    with(|module| module.output.as_ptr())
}

/// Handles the input as an event in JSON. `now` is in ns of the page's clock; a double has whole ns up to 104 days.
#[unsafe(no_mangle)]
pub extern "C" fn page_handle(now: f64) -> usize {
    with(|module| {
        let reply = module
            .station
            .handle_text(now as i64, &String::from_utf8_lossy(&module.input));
        module.reply(reply)
    })
}

/// Handles the input as a datagram of the data channel.
#[unsafe(no_mangle)]
pub extern "C" fn page_datagram(now: f64) -> usize {
    with(|module| {
        let reply = module.station.handle_datagram(now as i64, &module.input);
        module.reply(reply)
    })
}

/// Outputs the next datagram to send; its length is 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn page_transmit() -> usize {
    with(|module| {
        module.output = module.station.poll_transmit().unwrap_or_default();
        module.output.len()
    })
}

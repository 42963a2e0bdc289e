//! `netburn fetch`: one client against any HTTP server.

import DequeModule

// What a server refuses because another one, or the same one later, has to execute it.
extension ConnectionState {
    /// Makes a refused command wait again, and the connection end after the replies that are due.
    ///
    /// An `ASK` is not followed but waited out, like a `TRYAGAIN`: our scripts use more keys than
    /// they declare, and while a slot moves key by key only the one node that has all of them can
    /// run a script. Until then nobody may.
    mutating func postponed(_ command: Command, _ error: RedisServerError) -> Received {
        let reason: LinkFailure
        if case .leaving(let first) = phase {
            reason = first
        } else {
            let why = "it refused \(command.name.text) (\(error.message))"
            reason =
                if let moved = error.movedAddress(from: route.stop.address) {
                    .redirection(to: moved, why)
                } else {
                    .passing(why)
                }
            phase = .leaving(reason)
        }
        // Ids rise, so it goes behind those that were refused before it.
        let place = waiting.firstIndex { $0.id > command.id } ?? waiting.endIndex
        waiting.insert(command, at: place)
        return written.isEmpty ? .ends(reason) : .postpones
    }
}

import DequeModule

// Commands that a server refuses because another server, or the same one later, must execute them.
extension ConnectionState {
    /// Makes a refused command wait again, and ends the connection after the outstanding replies.
    ///
    /// An `ASK` is not followed but waited out, like a `TRYAGAIN`: the queue's scripts use more keys than they declare, and while a
    /// slot moves key by key, only a node that has all of them can run a script. Until the move is complete, no node can.
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
        // Ids increase, so the command goes behind those that were refused before it.
        let index = waiting.firstIndex { $0.id > command.id } ?? waiting.endIndex
        waiting.insert(command, at: index)
        return written.isEmpty ? .ends(reason) : .postpones
    }
}

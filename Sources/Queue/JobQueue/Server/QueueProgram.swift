import Redis

/// A program that uses a queue under a user of its own: `ops/redis-users.conf` gives each user what its scripts call.
public enum QueueProgram: String, Sendable, CaseIterable {
    case worker
    /// The commands of `minilab` that look and mend.
    case `operator`
    case gateway

    /// The scripts that it runs.
    var scripts: [RedisScript] {
        switch self {
        case .worker:
            [
                QueueScript.admit, QueueScript.admitWhileFull, QueueScript.beat, QueueScript.census,
                QueueScript.claim,
                QueueScript.claimDuty, QueueScript.claimPart, QueueScript.commit,
                QueueScript.conclude, QueueScript.fail, QueueScript.feed, QueueScript.feedWhileFull,
                QueueScript.finalize,
                QueueScript.generation,
                QueueScript.handOn, QueueScript.joinLibrary, QueueScript.pardon,
                QueueScript.passOn, QueueScript.preview, QueueScript.promote,
                QueueScript.raiseFormat, QueueScript.reap, QueueScript.release,
                QueueScript.removeDead, QueueScript.rights,
                QueueScript.split, QueueScript.tend,
            ]
        case .operator:
            QueueScript.looks + QueueScript.mends + [
                QueueScript.append, QueueScript.cancel, QueueScript.cancelBatch,
                QueueScript.census, QueueScript.configure, QueueScript.explain,
                QueueScript.generation, QueueScript.joinLibrary, QueueScript.removeDead,
                QueueScript.replay, QueueScript.replayLost, QueueScript.restore,
                QueueScript.rights,
            ]
        // The doctor looks from there, and mends from the terminal.
        case .gateway:
            QueueScript.looks + [
                QueueScript.append, QueueScript.cancel, QueueScript.cancelBatch,
                QueueScript.census, QueueScript.configure, QueueScript.explain,
                QueueScript.generation,
                QueueScript.joinLibrary, QueueScript.raiseFormat, QueueScript.replay,
                QueueScript.restore, QueueScript.rights, QueueScript.submit,
                QueueScript.submitBatch,
            ]
        }
    }

    /// The scripts that it runs on the records of the gateway.
    var scriptsOfRecords: [RedisScript] {
        self == .worker ? [] : [RecordHash.script] + GatewayRecords.scripts
    }

    /// The commands that ``scripts`` may call, in the order of their names.
    var commands: [String] { Self.commands[self] ?? [] }
    /// The commands that ``scriptsOfRecords`` may call, in the order of their names.
    var commandsOfRecords: [String] { Self.commandsOfRecords[self] ?? [] }

    private static let commands = names(\.scripts)
    private static let commandsOfRecords = names(\.scriptsOfRecords)

    private static func names(
        _ scripts: (QueueProgram) -> [RedisScript]
    ) -> [QueueProgram: [String]] {
        Dictionary(
            uniqueKeysWithValues: allCases.map { program in
                let names = scripts(program).reduce(into: Set()) {
                    $0.formUnion(QueueScript.commands(of: $1))
                }
                return (program, names.sorted())
            })
    }
}

extension QueueScript {
    /// Returns the commands that a script may call. A script that only reads is refused a command that writes, whatever its
    /// text has.
    static func commands(of script: RedisScript) -> Set<String> {
        let names = ScriptCommands.names(in: script.source)
        guard script.source.starts(with: reads.utf8) else { return names }
        return names.filter { ScriptCommands.writing[$0] == nil }
    }
}

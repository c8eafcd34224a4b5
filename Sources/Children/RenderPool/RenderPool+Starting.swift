public import Edits
import Glibc
import Logging
package import RenderProtocol
import SystemPackage
import Telemetry

/// Facts about render children that a worker determines before it claims a job.
extension RenderPool {
    /// Starts a child and reports to log and metrics how children are confined on this machine, which libraries
    /// they use, and which formats these libraries fail to write or read.
    ///
    /// If a child does not answer, that is reported too, and the worker still accepts jobs that need no child.
    ///
    /// - Throws: `unconfined` if the settings require a confinement that this machine lacks.
    public func start() async throws(Failure) {
        if let fault = RenderProgram.fault(of: executable) {
            logger.warning("the slower renderer is used", metadata: ["reason": "\(fault)"])
        }
        do {
            let (confinement, libraries) = try await introduced()
            report(confinement)
            metrics.set(libraries)
            logger.info(
                "libraries",
                metadata: Dictionary(
                    libraries.map { ($0.name, "\($0.version)") }, uniquingKeysWith: { $1 }))
        } catch let failure as Failure where failure.code == .unconfined {
            throw failure
        } catch {
            return logger.error("render children cannot work", metadata: ["error": "\(error)"])
        }
        formats = await findGaps()
        report(formats)
        // Ends these children, which have loaded the libraries of all formats: few jobs need them.
        await endIdle()
    }

    /// Asks a child how it is confined and what it is made of. A program for this machine's processor that cannot
    /// answer, or is of another version, is replaced by the one for every processor.
    private func introduced() async throws -> (Confinement, [LibraryVersion]) {
        do {
            let answers = try await lend(to: nil) { child in
                (try await child.confinement(), try await child.libraries())
            }
            let version = answers.1.first { $0.name == LibraryVersion.renderer }?.version
            if version == Engine.version { return answers }
            throw Failure(
                .rendererUnavailable,
                "\(executable) is of version \(version ?? "unknown"); expected is \(Engine.version). Install both from one release."
            )
        } catch let failure as Failure where failure.code != .unconfined {
            guard let basic = RenderProgram.basic(beside: executable) else { throw failure }
            logger.warning(
                "the slower renderer is used",
                metadata: ["instead": "\(executable)", "reason": "\(failure.message)"])
            executable = basic
            await endIdle()
            return try await introduced()
        }
    }

    /// Returns the libraries with which render children decode and encode, or text children draw.
    package func libraries(
        of program: RenderProgram.Kind = .photos
    ) async throws -> [LibraryVersion] {
        try await lend(to: nil, program: program) { child in try await child.libraries() }
    }

    /// Writes and reads back each available format once.
    public func tryFormats() async -> FormatGaps {
        FormatGaps(await failedTrials().mapValues { ($0 as? Failure)?.message ?? "\($0)" })
    }

    /// Returns the gaps of the worker's life. A trial that was killed, took too long or did not start is no answer of the
    /// encoder, so jobs of its format are tried.
    private func findGaps() async -> FormatGaps {
        var reasons: [Recipe.Format: String] = [:]
        for (format, error) in await failedTrials() {
            if let failure = error as? Failure, failure.isOfEncoder {
                reasons[format] = failure.message
            } else {
                logger.warning(
                    "a format could not be tried",
                    metadata: ["format": "\(format.rawValue)", "reason": "\(error)"])
            }
        }
        return FormatGaps(reasons)
    }

    private func failedTrials() async -> [Recipe.Format: any Error] {
        var errors: [Recipe.Format: any Error] = [:]
        for format in Recipe.Format.photos {
            do {
                try await trial(of: format)
            } catch {
                errors[format] = error
            }
        }
        return errors
    }

    /// Rejects a plan with bits of a sample that this machine's encoder fails to write. They are tried when a job first asks for
    /// them, and not when the worker starts: where the encoder aborts, the trial ends a child, and few jobs ask.
    ///
    /// - Throws: `formatUnavailable`, or the reason why there was no trial: it was cancelled, or memory was short.
    func checkBitDepth(_ plan: RenderPlan) async throws {
        guard !plan.lane.keepsFile else { return }
        try await check(plan.output.bitDepth, of: plan.output.format, at: "edit.output")
    }

    /// Tries these bits of a sample, if only a trial tells whether the format can be written with them.
    ///
    /// - Parameter path: the object whose field asks for them.
    /// - Throws: `formatUnavailable`, or errors of the trial.
    func check(
        _ depth: Recipe.BitDepth, of format: Recipe.Format, at path: String
    ) async throws {
        guard format.triedBitDepths.contains(depth) else { return }
        // Jobs that ask at the same time wait for the same trial.
        let trial =
            bitDepthTrials[format]?[depth]
            ?? Task {
                do {
                    try await self.trial(of: format, depth)
                } catch let failure as Failure where failure.isOfEncoder {
                    logger.notice(
                        "\(format.rawValue) of \(depth.rawValue) bits cannot be written: \(failure.message)"
                    )
                    // The reason alone: each job has its own path.
                    throw Failure(.formatUnavailable, failure.message)
                }
            }
        bitDepthTrials[format, default: [:]][depth] = trial
        do {
            try await trial.value
        } catch let failure as Failure where failure.code == .formatUnavailable {
            throw FormatGaps.failure(format, depth, failure.message, at: path)
        } catch {
            // Another failure is no answer of the encoder, so the next job tries again.
            bitDepthTrials[format]?[depth] = nil
            throw error
        }
    }

    /// The most trials of a format. Two, because a machine that is short of memory when the worker starts may have
    /// some a moment later.
    private static let trialsMax = 2
    /// The memory for writing and reading a picture of 64 pixels: 60 MB measured with all libraries loaded.
    private static let trialBytes = 96 << 20

    /// Tries a format with the usual bits of a sample, or with these.
    ///
    /// - Throws: the reason why it does not work.
    private func trial(
        of format: Recipe.Format, _ bitDepth: Recipe.BitDepth? = nil
    ) async throws {
        for number in 1...Self.trialsMax {
            do {
                return try await lend(min(Self.trialBytes, gate.budget.bytes), to: nil) { child in
                    try await child.tryFormat(format, bitDepth)
                }
            } catch let failure as Failure where failure.isOfEncoder {
                throw failure
            } catch  where number < Self.trialsMax {
                continue
            }
        }
    }

    private func report(_ confinement: Confinement) {
        metrics.set(confinement)
        if confinement.gaps.isEmpty {
            logger.info("render children are confined")
        } else {
            logger.warning(
                "render children are less confined than they can be; see \"Watch it\" in ops/RUNBOOK.md",
                metadata: [
                    "missing":
                        "\(confinement.gaps.map { "\($0.measure.rawValue) (\($0.reason))" }.joined(separator: ", "))"
                ])
        }
    }

    private func report(_ gaps: FormatGaps) {
        metrics.set(gaps)
        for (format, reason) in gaps.reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            logger.error(
                "a format cannot be written and read on this machine: its jobs are left to other workers",
                metadata: ["format": "\(format.rawValue)", "reason": "\(reason)"])
        }
    }

    /// Refuses to lend an unconfined child if the settings require confinement. The kernel is queried once.
    func insistOnConfinement(of child: LentChild) async throws {
        guard settings.requiresConfinement, !isConfined else { return }
        if let shortfall = try await child.confinement().shortfall {
            throw Failure(.unconfined, "\(shortfall)")
        }
        isConfined = true
    }
}

extension Failure {
    /// Whether a trial ended by what the encoder did, and would end so again: a crash of its own, or an answer about the file.
    /// Not so if the child was killed from outside, had no memory, took too long or did not start.
    fileprivate var isOfEncoder: Bool {
        if let signal {
            return [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV].contains(Int32(signal))
        }
        return ![
            .exceedsMemoryBudget, .internalError, .ioFailure, .noSpace, .outOfMemory,
            .rendererUnavailable, .renderTimedOut, .unconfined,
        ].contains(code)
    }
}

/// Children that cannot be started are the trouble of the worker, and no fault of the photo that waits for one.
extension RenderPool {
    /// How often a start is tried: the second time without idle children, which hold threads and memory.
    private static let startsMax = 2
    /// The time between two trials while no child can be started, as for a store that is away.
    private static let startPause: Duration = .seconds(1)

    /// Starts a child.
    ///
    /// - Throws: `rendererUnavailable`. The pool then tries every second and reports when it can start children again.
    func startedChild(
        _ program: RenderProgram.Kind = .photos
    ) async throws(Failure) -> RenderProcess {
        var reason = ""
        for number in 1...Self.startsMax {
            if number > 1 { await endIdle() }
            let child = newChild(program)
            guard let refusal = await child.waitForStart() else { return child }
            reason = refusal
        }
        beginTrouble(reason, program)
        throw Failure(
            .rendererUnavailable,
            "no render child can be started: \(reason). Is \(path(of: program)) installed, and are there processes, threads and "
                + "memory left?")
    }

    private func path(of program: RenderProgram.Kind) -> FilePath {
        switch program {
        case .photos: executable
        case .texts: RenderProgram.texts(beside: executable)
        }
    }

    private func newChild(_ program: RenderProgram.Kind) -> RenderProcess {
        RenderProcess(
            executable: path(of: program), lifeBytes: program == .photos ? lifeBytes : nil,
            logger: logger, metrics: metrics)
    }

    private func beginTrouble(_ reason: String, _ program: RenderProgram.Kind) {
        guard starting == nil else { return }
        tell(reason)
        logger.error(
            "no render child can be started: no jobs are claimed until one can",
            metadata: ["program": "\(path(of: program))", "error": "\(reason)"])
        starting = Task { await tryToStart(program, after: reason) }
    }

    private func tell(_ reason: String?) {
        metrics.unavailable.set(reason != nil)
        trouble(reason)
    }

    private func tryToStart(_ program: RenderProgram.Kind, after reason: String) async {
        var reason = reason
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.startPause)
            } catch {
                return  // the pool is closed
            }
            let child = newChild(program)
            let refusal = await child.waitForStart()
            child.finish()
            await child.wait()
            guard let refusal else { break }
            if refusal != reason { tell(refusal) }
            reason = refusal
        }
        starting = nil
        tell(nil)
        logger.notice("render children can be started again")
    }
}

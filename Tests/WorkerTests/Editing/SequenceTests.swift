import Edits
import Files
import Foundation
import MinilabTesting
import Synchronization
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// Long lives of assets, in which the worker crashes all the time.
@Suite("Random sequences of edits, with crashes between any two file calls") struct SequenceTests {
    /// Each has up to nine edits.
    private static let sequences = Volume.trials(byDay: 30, byNight: 3_000)
    private static let editsMax = 9

    @Test func `lose nothing, do nothing twice, and leave nothing behind`() async throws {
        var generator = SeededGenerator()
        generator.printSeed()
        let seeds = (0..<Self.sequences).map { _ in generator.next() }
        let bench = try Workbench(inMemory: true)
        try await withThrowingTaskGroup { group in
            for lane in 0..<2 {
                group.addTask {
                    for (number, seed) in seeds.enumerated() where number % 2 == lane {
                        var life = try Life(bench, number, seed: seed)
                        for _ in 0..<Int.random(in: 1...Self.editsMax, using: &life.generator) {
                            try await life.step()
                        }
                        try await life.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try bench.library.staging.staged(in: "photos").isEmpty)
        await bench.pool.close()
    }
}

/// The life of one asset beside its model.
private struct Life {
    let bench: Workbench
    let asset: AssetPath
    let original: Data
    var generator: SeededGenerator
    var model = AssetModel()
    var hasCollected = false

    init(_ bench: Workbench, _ number: Int, seed: UInt64) throws {
        self.bench = bench
        generator = SeededGenerator(seed: seed)
        original = SyntheticPhoto.png(width: 8, height: 6, seed: number)
        asset = try bench.put("\(number).png", original)
    }

    private var story: Comment { "\(asset), seed \(generator.seed)" }

    /// One edit, carried to its end through as many crashes as it takes.
    mutating func step() async throws {
        let sepia = try Filter(
            "CISepiaTone",
            ["intensity": .number(Double(Int.random(in: 1...3, using: &generator)) / 4)])
        let invert = try Filter("CIColorInvert")
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1:
            try await edit(.replace(Edit.Steps([sepia])))
            model.edit([sepia])
        case 2, 3:
            try await edit(.append(Edit.Steps([invert])))
            model.edit((model.shown ?? []) + [invert])
        case 4:
            guard let filters = model.shown, !filters.isEmpty else { return }
            try await edit(.amend([Amendment(step: .index(0), change: .remove)]))
            model.edit(Array(filters.dropFirst()))
        case 5:
            try await edit(.revert)
            model.edit(nil)
        case 6, 7: if try await move(.undo) { model.undo() }
        case 8: if try await move(.redo) { model.redo() }
        case 9:
            try await edit(.replace(Edit.Steps([sepia, invert])), isDraft: true)
            model.prepare([sepia, invert])
        case 10:
            if Bool.random(using: &generator) {
                try await edit(.discard(version: nil))
                model.discard()
            } else if model.isDraftFresh {
                try await edit(.publish(version: nil))
                model.publish()
            }
        default:
            hasCollected = true
            try await collect()
        }
        try await check()
    }

    /// - Returns: false when the version to go to has been collected.
    private mutating func move(_ mode: Edit.Mode) async throws -> Bool {
        do {
            try await edit(mode)
            return true
        } catch let failure as Failure where failure.code == .missingVersion {
            #expect(hasCollected, story)
            return false
        }
    }

    private mutating func edit(_ mode: Edit.Mode, isDraft: Bool = false) async throws {
        let edit = Edit(mode, output: mode.takesOutput ? .png : nil, isDraft: isDraft)
        var job = bench.job()
        while true {
            let (bench, asset, hold) = (bench, asset, job)
            let isDone = try await throughCrash { faults in
                try await bench.run(edit, asset, hold, faults: faults)
                return true
            }
            if isDone { return }
            // The worker is dead; another one takes over.
            if let (name, staged) = bench.committed(job), try await carriedOn(name, staged) {
                return
            }
            try bench.library.staging.discard(job.staged)
            job = bench.job()
        }
    }

    /// Carries a committed version on, through more crashes; false when it has to be made again.
    private mutating func carriedOn(
        _ name: VersionName, _ staged: StagedVersion
    ) async throws -> Bool {
        let (root, asset) = (bench.library.root, asset)
        while true {
            let publication = Mutex<Publication?>(nil)
            let isDone = try await throughCrash { faults in
                let library = try LibraryFolder(root: root, faults: faults)
                let result = try await library.publish(name, of: asset, from: staged)
                publication.withLock { $0 = result }
                return true
            }
            guard isDone else { continue }
            switch publication.withLock({ $0 }) {
            case .published, .alreadyPublished: return true
            case .publishedBefore, .conflict, .lost, nil: return false
            }
        }
    }

    private mutating func collect() async throws {
        let (root, asset) = (bench.library.root, asset)
        while true {
            let isDone = try await throughCrash { faults in
                let library = try LibraryFolder(root: root, faults: faults)
                _ = try await library.collect(
                    asset, keeping: Retention(versions: 3, age: nil),
                    now: Date(timeIntervalSince1970: 2e9))
                return true
            }
            if isDone { return }
        }
    }

    /// Runs something that a crash may end, at any of its file calls, every other time.
    ///
    /// - Returns: false when it crashed.
    private mutating func throughCrash(
        _ body: (FaultInjection?) async throws -> Bool
    ) async throws -> Bool {
        let faults =
            Bool.random(using: &generator)
            ? nil : FaultInjection(afterCalls: Int.random(in: 0..<40, using: &generator))
        do {
            return try await body(faults)
        } catch {
            guard let faults, faults.hasStruck else { throw error }
            return false
        }
    }

    /// What must be so after each edit.
    private func check() async throws {
        let state = try await bench.library.state(of: asset)
        #expect(state.current?.revision ?? 0 == model.revision, story)
        #expect(state.current?.content?.recipe?.filters == model.shown, story)
        #expect(state.draft?.content?.recipe?.filters == model.draft, story)
        let source = try Data(contentsOf: URL(filePath: bench.library.original(of: asset).string))
        #expect(source == original, story)
    }

    /// The history has no gap, every file is what it is said to be, and rendered again it is the same, to the byte.
    func end() async throws {
        let history = try await bench.library.history(of: asset)
        #expect(
            history.map(\.revision)
                == Array((0..<history.count).map { model.revision - $0 }), story)
        if !hasCollected { #expect(history.count == model.revision, story) }
        guard let current = try await bench.current(asset) else {
            #expect(try await bench.shown(asset) == original, story)
            return
        }
        let verification = try await AssetVerifier(
            library: bench.library, pool: bench.pool, settings: bench.settings
        ).verify(asset, allVersions: false, scratch: bench.scratch)
        #expect(verification.problems.isEmpty, story)
        // A draft that an edit overtook is noted.
        #expect(
            verification.notes.count == (model.draft == nil || model.isDraftFresh ? 0 : 1), story)
        // A draft that is the same as what is current is rendered once.
        let renders = (model.draft == nil ? 0 : 1) + (current.content == nil ? 0 : 1)
        #expect(
            verification.rendersCompared == renders
                || model.draft == model.shown && verification.rendersCompared == 1, story)
    }
}

extension Edit.Mode {
    fileprivate var takesOutput: Bool {
        switch self {
        case .replace, .append, .amend: true
        default: false
        }
    }
}

extension Recipe.Output {
    fileprivate static let png = Recipe.Output(format: .png)
}

import Foundation
import MinilabTesting
import Testing

/// A short form of `ops/hostile`: mutated files through a worker's own pool of real children.
@Suite("Mutated photos", .timeLimit(.minutes(10))) struct HostileBenchTests {
    @Test
    func `each ends as a picture or as a typed failure, in time, and every child's end has a name`()
        async throws
    {
        let fixtures = Repository.fixture("")
        // The same files each time; ops/hostile takes others.
        let (ending, output) = try await MinilabProcess.run(
            [
                "hostile", fixtures.path, fixtures.path + "/Hostile", "--seed", "6",
                "--count", "200", "--bytes-max", "40000",
            ], executable: "minilab-bench")
        #expect(ending == .exited(0), "\(output)")
        #expect(output.contains("| 200 files ended as |"))
        #expect(output.contains("| a picture |") && output.contains("| damagedPhoto |"))
    }
}

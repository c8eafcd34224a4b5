import Synchronization
import Testing

@testable import Rendering

@Suite("Parts that are made on one thread and used on another", .timeLimit(.minutes(10)))
struct HandoverTests {
    private struct Fault: Error, Equatable { let part: Int }

    private final class Cell: Sendable { let value = Mutex(-1) }

    private let cells = (0..<Handover.buffers).map { _ in Cell() }

    @Test(arguments: [0, 1, 3, 1000]) func `are used in their order, each as it was made`(
        count: Int
    ) throws {
        var used: [Int] = []
        try Handover.run(count, cells) { part, cell throws(Fault) in
            cell.value.withLock { $0 = part * part }
        } use: { part, cell throws(Fault) in
            #expect(cell.value.withLock { $0 } == part * part)
            used.append(part)
        }
        #expect(used == Array(0..<count))
    }

    @Test func `end with the failure of who makes one, once those before it are used or not`() {
        #expect(throws: Fault(part: 40)) {
            try Handover.run(1000, cells) { part, _ throws(Fault) in
                if part == 40 { throw Fault(part: part) }
            } use: { part, _ throws(Fault) in
                #expect(part < 40)
            }
        }
    }

    @Test func `end with the failure of who uses one`() {
        #expect(throws: Fault(part: 7)) {
            try Handover.run(1000, cells) { _, _ throws(Fault) in
            } use: { part, _ throws(Fault) in
                if part == 7 { throw Fault(part: part) }
            }
        }
    }
}

import NIOCore
import Testing

@testable import Gateway

@Suite("The deadlines of a connection") struct ConnectionTimesTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func at(_ seconds: Double) -> NIODeadline {
        start + .milliseconds(Int64(seconds * 1000))
    }

    private func times() -> ConnectionTimes { ConnectionTimes(BorderLimits(), openedAt: start) }

    @Test func `a silent connection is idle for a minute`() {
        let times = times()
        #expect(times.due?.at == at(60))
        #expect(times.due?.cause == .idle)
    }

    @Test func `a head may take ten seconds from its first byte, however it drips`() {
        var times = times()
        for second in [30.0, 33, 36, 39] { times.readSome(at: at(second)) }
        #expect(times.due?.at == at(40))
        #expect(times.due?.cause == .slowHead)
    }

    @Test func `a body that drips ends when its bytes are not worth their time`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.wantMore(at: at(0))
        #expect(times.due?.at == at(5))
        times.readBody(240, at: at(4))
        // One second was earned, four are spent.
        #expect(times.due?.at == at(6))
        #expect(times.due?.cause == .slowBody)
    }

    @Test func `a body without a length ends after an hour, however it comes`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        for second in stride(from: 0.0, to: 3_600, by: 10) {
            times.wantMore(at: at(second))
            times.readBody(10_000, at: at(second + 1))
            times.readSome(at: at(second + 1))
        }
        times.wantMore(at: at(3_599))
        #expect(times.due?.at == at(3_600))
        #expect(times.due?.cause == .slowBody)
    }

    @Test func `time in which nobody reads a body is not its client's`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.wantMore(at: at(0))
        times.readSome(at: at(2))
        #expect(times.due == nil)
        times.wantMore(at: at(1_000))
        #expect(times.due?.at == at(1_003))
    }

    @Test func `a client that waits to be asked for its body has time until then`() {
        var times = times()
        times.readHead(awaitsContinue: true, at: at(0))
        times.wantMore(at: at(0))
        #expect(times.due == nil)
        times.askForBody(at: at(100))
        #expect(times.due?.at == at(105))
    }

    @Test func `a fast upload may stall for a minute and no longer`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.wantMore(at: at(0))
        times.readBody(100 << 20, at: at(1))
        #expect(times.due?.at == at(61))
    }

    @Test func `a body with an announced length comes within an hour or so`() {
        var times = times()
        // 4 GB in an hour are 1.2 MB a second; 300 bytes a second are worth nothing.
        times.readHead(awaitsContinue: false, announced: 4 << 30, at: at(0))
        times.wantMore(at: at(0))
        for second in [1.0, 2, 3, 4] { times.readBody(300, at: at(second)) }
        #expect(times.due.map { $0.at < at(5.1) } == true)
        times.readBody(1 << 20, at: at(4.5))
        #expect(times.due.map { $0.at > at(5.5) && $0.at < at(6.5) } == true)
        // A short one has the pace of all.
        times = self.times()
        times.readHead(awaitsContinue: false, announced: 100_000, at: at(0))
        times.wantMore(at: at(0))
        times.readBody(240, at: at(4))
        #expect(times.due?.at == at(6))
    }

    @Test func `a response that makes no bytes has no deadline`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.readEnd()
        #expect(times.due == nil)
        times.writeEnd(at: at(500))
        #expect(times.due?.at == at(560))
    }

    @Test func `bytes that a client does not take are worth their time and no more`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.readEnd()
        times.write(2400, at: at(0))
        #expect(times.due?.at == at(15))
        #expect(times.due?.cause == .slowReader)
        times.sent(1200, at: at(10))
        #expect(times.due?.at == at(20))
        times.sent(1200, at: at(11))
        #expect(times.due == nil)
    }

    @Test
    func `a large response gives a client that takes nothing no more time than a piece of it`() {
        var times = times()
        times.readHead(awaitsContinue: false, at: at(0))
        times.readEnd()
        times.write(1 << 30, at: at(0))
        times.write(1 << 30, at: at(1))
        let seconds = 5 + Double(ConnectionTimes.writtenBytesMax) / 240
        #expect(times.due.map { $0.at <= at(seconds + 0.01) } == true)
    }

    @Test func `no number of bytes overflows a time`() {
        #expect(TransferPace.time(of: .max, at: 1).nanoseconds == .max)
        #expect(TransferPace.time(of: 480, at: 240) == .seconds(2))
    }
}

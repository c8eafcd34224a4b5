import Edits
import MinilabTesting
import Testing

@Suite("The examples on our pages") struct PageTests {
    @Test(arguments: [("README.md", 1), ("jobs/README.md", 1), ("jobs/PHOTOKIT.md", 15)])
    func `every edit that a command sends fits the schema and is read`(
        path: String, count: Int
    ) throws {
        let edits = try Page(path).commands.compactMap(\.edit)
        try #require(edits.count >= count)
        for (edit, refusal) in zip(edits, try Schema.edit().refusals(of: edits)) {
            #expect(refusal == nil, "\(edit)")
            #expect(throws: Never.self, "\(edit)") { try Edit(json: edit) }
        }
    }

    @Test func `every event fits the schema`() throws {
        let events = try Page("jobs/PHOTOKIT.md").blocks("json")
        try #require(!events.isEmpty)
        for (event, refusal) in zip(events, try Schema.event().refusals(of: events)) {
            #expect(refusal == nil, "\(event)")
        }
    }

    /// Modes that a page for people from PhotoKit does without: they are not PhotoKit's.
    @Test
    func `the page for people from PhotoKit shows each mode but render, renditions and discard`()
        throws
    {
        let edits = try Page("jobs/PHOTOKIT.md").commands.compactMap(\.edit)
        let modes = try edits.map { try Edit(json: $0).mode.name }
        #expect(
            Set(modes) == Set(Edit.Name.allCases).subtracting([.render, .renditions, .discard]))
    }
}

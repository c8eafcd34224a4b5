import Testing

@testable import Dashboard

struct TemplateTests {
    @Test func `no template writes a value as it is`() {
        for (name, bytes) in Templates.texts {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("{{{"), "\(name)")
            #expect(text.ranges(of: /\{\{\s*&/).isEmpty, "\(name)")
            #expect(!text.contains("CONTENT_TYPE"), "\(name)")
        }
    }

    @Test func `a template names fields that there are`() {
        var known: Set = [".", "viewer"]
        for example in Examples().all {
            func visit(_ value: Any) {
                for child in Mirror(reflecting: value).children {
                    if let label = child.label { known.insert(label) }
                    visit(child.value)
                }
            }
            visit(example.page)
        }
        visit(shell: &known)
        for (name, bytes) in Templates.texts {
            for match in String(decoding: bytes, as: UTF8.self)
                .matches(of: /\{\{[#^\/]?([A-Za-z.]+)\}\}/)
            {
                #expect(known.contains(String(match.output.1)), "\(name): \(match.output.1)")
            }
        }
    }

    private func visit(shell known: inout Set<String>) {
        let shell = Shell(Examples().now, template: "now")
        for child in Mirror(reflecting: shell).children { child.label.map { _ = known.insert($0) } }
        for child in Mirror(reflecting: Section.Link(.now, isCurrent: true)).children {
            child.label.map { _ = known.insert($0) }
        }
    }

    @Test func `every partial is there`() {
        for (name, bytes) in Templates.texts {
            for match in String(decoding: bytes, as: UTF8.self).matches(of: /\{\{>([a-z-]+)\}\}/) {
                #expect(
                    Templates.texts[String(match.output.1)] != nil, "\(name): \(match.output.1)")
            }
        }
    }
}

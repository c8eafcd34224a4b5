import Dashboard
import Testing

struct DashboardTests {
    @Test func `every template is read`() {
        #expect(
            ProblemPage(
                Frame(viewer: nil, csrf: "", version: "1"), status: 404, title: "Not found",
                detail: "There is no such page."
            ).render().contains("<h1>"))
    }
}

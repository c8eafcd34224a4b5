public import Edits

extension DCFName {
    /// Chooses names for photos that are exported to one folder, in their order.
    ///
    /// A photo keeps its own name if that is a valid one and free. These names are assigned first. The other photos
    /// get the lowest free numbers of `IMG_`.
    ///
    /// - Parameters:
    ///   - stems: the photos' names, without extensions.
    ///   - existing: the names of the files in the folder.
    /// - Throws: `invalidValue` if there are not enough numbers.
    public static func choose(
        for stems: [String], besides existing: [String]
    ) throws(Failure) -> [DCFName] {
        var used = Set(existing.compactMap { DCFName(anyRole: stem(of: $0)) })
        let own = stems.map { stem in
            DCFName(original: stem).flatMap { used.insert($0).inserted ? $0 : nil }
        }
        var number = numbers.lowerBound
        var names: [DCFName] = []
        for name in own {
            if let name {
                names.append(name)
                continue
            }
            while used.contains(DCFName(letters: madeUpLetters, number: number)) { number += 1 }
            guard numbers.contains(number) else {
                throw Failure(
                    .invalidValue,
                    "all numbers of \(madeUpLetters)_, \(numbers.lowerBound) to \(numbers.upperBound), "
                        + "are taken; \(names.count) of \(stems.count) photos got a name. Export the rest "
                        + "to another folder.")
            }
            names.append(DCFName(letters: madeUpLetters, number: number))
            number += 1
        }
        return names
    }

    private static func stem(of fileName: String) -> String {
        fileName.lastIndex(of: ".").map { String(fileName[..<$0]) } ?? fileName
    }
}

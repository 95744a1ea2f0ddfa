import Foundation

public let maxCount = 10
private var counter = 0

public typealias Handler = (Int) -> Void

/// A request.
///
/// More.
@available(iOS 13, *)
public final class Request: Codable, Sendable {
    public static let shared = Request()
    private var storage: [String: Int] = [:]
    var isEmpty: Bool {
        return storage.isEmpty
    }

    public init(name: String) {
        let local = 1
    }

    deinit {
        print("x")
    }

    @discardableResult
    public func send<T>(_ value: T, to url: URL) async throws -> T {
        func inner() {}
        return value
    }

    subscript(index: Int) -> Int {
        return index
    }

    enum State: String {
        case open, closed

        func toggle() {}
    }
}

struct Point {
    let x: Int
}

protocol Drawable {
    associatedtype Item
    var name: String { get }
    func draw() -> Item
}

extension Request: CustomStringConvertible {
    public var description: String { "x" }

    func resend() {}
}

actor Store {
    func load() {}
}

func global(a: Int) -> Int { a }

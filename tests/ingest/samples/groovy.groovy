package org.example

import groovy.transform.CompileStatic

/** Builds things. */
@CompileStatic
class Builder extends Base {
    static final int LIMIT = 10
    String name

    Builder(String name) {
        this.name = name
    }

    @Override
    void build(int count) {
        def local = 1
    }

    def dynamic(a, b = 2) {
        return a
    }
}

interface Step {
    void run()
}

enum Color { RED, GREEN }

def helper(x) {
    return x
}

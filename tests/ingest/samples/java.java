package org.example;

import java.util.List;

/**
 * Joins strings.
 *
 * <p>More.
 */
@Deprecated
public final class Joiner<T> extends Base implements Runnable {
    public static final String SEPARATOR = ",";
    private int count, total;

    static {
        System.out.println("x");
    }

    public Joiner(String name) {
        this.count = 0;
    }

    /** Runs it. */
    @Override
    @SuppressWarnings({"unchecked", "x"})
    public void run() {
        int local = 1;
        Runnable r = new Runnable() {
            public void run() {}
        };
    }

    abstract <R> List<R> map(Function<T, R> f) throws IOException;

    enum State {
        OPEN, CLOSED;

        State next() {
            return this;
        }
    }

    interface Visitor {
        int LIMIT = 3;
        void visit(Joiner<?> j);
        default void done() {}
    }

    record Pair(String left, int right) {
        Pair {
            assert right > 0;
        }
        int sum() { return right; }
    }

    @interface Marker {
        String value() default "";
    }
}

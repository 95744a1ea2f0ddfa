package org.example

import kotlin.math.abs

const val MAX = 10
val topLevel: String by lazy { "x" }

typealias Handler = (Int) -> Unit

/**
 * A table.
 *
 * More.
 */
@Serializable
open class Table<T>(val name: String) : Base(), Closeable {
    private var count: Int = 0
    val size: Int get() = count

    constructor() : this("x")

    init {
        println("x")
    }

    @JvmStatic
    override fun close() {
        val local = 1
        fun inner() {}
    }

    companion object {
        const val PREFIX = "t_"
        fun create(): Table<Int> = Table("x")
    }

    inner class Row
}

interface Closeable {
    fun close()
}

object Registry : Closeable {
    override fun close() = Unit
}

enum class Color(val rgb: Int) {
    RED(1), GREEN(2);

    fun hex() = rgb
}

data class Point(val x: Int, val y: Int)

sealed interface Shape

fun <T> List<T>.second(): T = this[1]

suspend fun fetch(url: String): String {
    return url
}

annotation class Marker

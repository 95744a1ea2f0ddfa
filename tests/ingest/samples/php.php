<?php

declare(strict_types=1);

namespace Monolog\Handler;

use Monolog\Logger;

const LIMIT = 5;
define('OTHER', 6);

/**
 * Stores to a stream.
 *
 * @author someone
 */
#[Attribute]
final class StreamHandler extends AbstractHandler implements Resettable
{
    use Helper;

    public const MAX_CHUNK = 2147483647;
    protected ?string $url = null, $other;

    /** Opens it. */
    #[Pure]
    public function __construct(private string $stream, int $level = 1)
    {
        $local = 1;
    }

    public static function create(): static
    {
        return new static();
    }

    abstract protected function write(array $record): void;
}

interface Resettable
{
    public function reset(): void;
}

trait Helper
{
    private $cache;

    public function help() {}
}

enum Level: int
{
    case Debug = 100;

    public function label(): string
    {
        return 'x';
    }
}

function helper(string $a): string
{
    return $a;
}

$instance = new StreamHandler('x');
